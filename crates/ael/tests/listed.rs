//! What nodes list as their secondary indexes.

use aerolane_ael::context;
use aerolane_ael::listed::{Listed, read, selectivity};
use aerolane_ael::select::{Collection, Index, IndexKind};

/// As a server of version 8.1 lists them, and one of 5.7 the last one.
const LIST: &str = "ns=test:indexname=n_idx:set=people:bin=age:type=numeric:indextype=default:context=null:exp=null:state=RW;\
    ns=test:indexname=m_idx:set=null:bin=m:type=string:indextype=mapkeys:context=null:exp=null:state=WO;\
    ns=test:indexname=e_idx:set=null:bin=null:type=numeric:indextype=default:context=null:exp=kwBR:state=RW;\
    ns=test:indexname=c_idx:set=people:bin=m:type=geo2dsphere:indextype=list:context=kiKiA2E=:exp=null:state=RW;\
    ns=other:indexname=old:set=people:bin=b:type=INT SIGNED:indextype=NONE:path=b:state=RW";

fn index(name: &str, bin: &str, kind: IndexKind, collection: Collection) -> Index {
    let (name, bin) = (Some(name.to_owned()), bin.to_owned());
    Index { name, bin, kind, collection, context: Vec::new(), selectivity: None }
}

#[test]
fn lists_of_servers() {
    let listed = |namespace: &str, set: Option<&str>, readable, index| Listed {
        namespace: namespace.to_owned(),
        set: set.map(str::to_owned),
        readable,
        index,
    };
    let nested =
        Index { context: context("$.m.a", &[]).unwrap(), ..index("c_idx", "m", IndexKind::Geo, Collection::List) };
    let expected = vec![
        listed("test", Some("people"), true, index("n_idx", "age", IndexKind::Numeric, Collection::Default)),
        listed("test", None, false, index("m_idx", "m", IndexKind::String, Collection::MapKeys)),
        listed("test", Some("people"), true, nested),
        listed("other", Some("people"), true, index("old", "b", IndexKind::Numeric, Collection::Default)),
    ];
    assert_eq!(read(LIST), expected);
    assert_eq!(read(&format!("{LIST};")), expected);
    // From 8.2 on.
    let newer = LIST.replace("type=numeric", "type=integer");
    assert_eq!(read(&newer), expected);
    assert_eq!(read(""), []);
}

#[test]
fn what_cannot_be_understood_is_left_out() {
    for bad in [
        "ERROR:201:no index",
        "ns=test:bin=a",
        "ns=test:bin=a:type=complex:indextype=default:state=RW",
        "ns=test:bin=a:type=numeric:indextype=whatever:state=RW",
        "bin=a:type=numeric:indextype=default:state=RW",
        "ns=test:bin=:type=numeric:indextype=default:state=RW",
        "ns=test:bin=a:type=numeric:indextype=default:context=!:state=RW",
        "ns=test:bin=a:type=numeric:indextype=default:context=kSI=:state=RW",
        "ns=test:bin=a:type=numeric:indextype=default:context=kiI=:state=RW",
        "ns=test:bin=a:type=numeric:indextype=default:context=3f////8=:state=RW",
    ] {
        assert_eq!(read(bad), [], "{bad}");
        assert_eq!(read(&format!("{bad};{LIST}")).len(), 4, "{bad}");
    }
    // Without a state it is not known to be there.
    assert!(!read("ns=test:bin=a:type=numeric:indextype=default")[0].readable);
}

#[test]
fn a_list_is_bounded() {
    let one = LIST.split(';').next().unwrap();
    assert_eq!(read(&vec![one; 10_000].join(";")).len(), 8192);
}

#[test]
fn how_selective_an_index_is() {
    let of = |text| selectivity(text);
    assert_eq!(of("entries=10;used_bytes=320;entries_per_bval=4;entries_per_rec=1"), Some(0.25));
    assert_eq!(of("entries_per_bval=0"), None);
    assert_eq!(of("entries_per_bval=x"), None);
    assert_eq!(of("ERROR::no index"), None);
}

#[test]
fn damaged_lists() {
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let mut below = move |bound: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % bound as u64) as usize
    };
    let mut understood = 0;
    for _ in 0..20_000 {
        let mut bytes = LIST.as_bytes().to_vec();
        for _ in 0..=below(6) {
            let at = below(bytes.len());
            match below(3) {
                0 => bytes[at] = below(256) as u8,
                1 => drop(bytes.remove(at)),
                _ => bytes.insert(at, b";:=,\0k"[below(6)]),
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        let listed = read(&text);
        assert!(listed.iter().all(|one| !one.namespace.is_empty() && !one.index.bin.is_empty()), "{text}");
        understood += listed.len();
    }
    assert!(understood > 20_000);
}
